"""Is a question about anything but a time? "What happened last week?" is not."""

from __future__ import annotations

from clew.words import STOP_WORDS, folded, words

# Words that ask for whatever there is; none of them tells one memory from another.
_WHATEVER = frozenset(
    """
    happen happens happened happening occur occurs occurred occurring went go going goes gone take took taken place done made make
    new news event events memory memories note notes noted entry entries thing things stuff item items everything anything something
    know known knew learn learned learnt remember remembered record recorded store stored save saved add added write wrote written
    say said show list give find get recap summary summarise summarize summarised summarized update updates updated change changed
    plan plans planned schedule scheduled due come comes coming came overview whats hows week weeks day days month months year years
    time today interesting important worth else ever
    """.split()
)


def names_a_topic(rest: str) -> bool:
    """Tell whether a question, without its times, still says what it is about.

    >>> names_a_topic("What happened?"), names_a_topic("What did we decide?"), names_a_topic("?")
    (False, True, False)
    """
    return any(word not in STOP_WORDS and word not in _WHATEVER for word in (folded(each) for each in words(rest)))
