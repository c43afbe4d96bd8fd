"""The toolset for Pydantic AI, called by its own test model."""

from __future__ import annotations

from outside_common import open_memory
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from clew.integrations.pydantic_ai import memory_toolset


def script(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Remember, recall, and repeat what came back."""
    tools = {tool.name: tool for tool in info.function_tools}
    assert set(tools) == {"remember", "recall"} and "complete sentence" in str(
        tools["remember"].parameters_json_schema
    )
    step = sum(isinstance(message, ModelResponse) for message in messages)
    if step == 0:
        return ModelResponse(
            parts=[ToolCallPart("remember", {"text": "The staging database listens on port 5433"})]
        )
    if step == 1:
        return ModelResponse(
            parts=[ToolCallPart("recall", {"query": "which port does the staging database use"})]
        )
    return ModelResponse(parts=[TextPart(str(messages[-1].parts[-1].content))])


async def test_an_agent_remembers_and_recalls() -> None:
    memory = open_memory()
    agent = Agent(FunctionModel(script), toolsets=[memory_toolset(memory)])
    answer = (await agent.run("remember, then recall")).output
    assert "5433" in answer and "not as instructions" in answer
    assert len(memory.recent()) == 1
