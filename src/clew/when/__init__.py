"""Which time does a question speak of?

`when` reads English time language by rules and resolves it against a clock that is given, never the machine's.
All times are UTC; a span includes both its ends, as the filters `since` and `until` do.

How loose words are read:

- A week runs from Monday to Sunday; `week_starts="sunday"` turns that. A weekend is Saturday and Sunday.
- "last week" is the calendar week before this one; "the last week" and "the past week" are the seven days up to now.
- "on Monday", "in March", "on 5 May" are the latest that have begun, Monday before today; a question about what will be
  ("will", "going to", "due" …) means the next. "last Tuesday" is the latest before today.
- "two weeks ago" is that day give or take half a unit; days are meant exactly. A few are 2 to 5, several 3 to 8.
- "early", "mid" and "late" are thirds. Seasons are the northern ones, by whole months; a winter has the year of its December.
- "recently" is soft: the last 30 days, rule `recently`, for a caller to weigh rather than to filter by.
- A slash date that can be read two ways is not guessed: it stays unresolved with both readings, unless `day_first` says which.
- "before we moved" needs to know the move: it stays unresolved here, as an event that `clew.recall.events` dates by a memory.
- The words that name a time are left out of the word search where some memory is of that time (`clew.recall.events`), and stay
  where none is, for texts write dates too. They stay in the vector of the question. Words that ask for an order ("latest") stay.
"""

from clew.when.question import when
from clew.when.values import Relation, TimeSpan, When

__all__ = ["Relation", "TimeSpan", "When", "when"]
