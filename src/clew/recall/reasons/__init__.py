"""Why is a memory in the answer, and why is another not? Read from a recall that is run stage by stage."""
