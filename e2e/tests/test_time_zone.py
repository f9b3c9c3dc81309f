"""The user's time zone: a relative date means a day there."""

import re

ZONES = {"east": "Pacific/Kiritimati", "west": "Etc/GMT+12"}


def tomorrow(stack, **where) -> str:
    """The day that "tomorrow" meant for a new user."""
    person = stack.person()
    person.say("My dentist appointment is tomorrow at nine.", **where)
    person.learn()
    days = {day for memory in person.memories() for day in re.findall(r"tomorrow \((\d{4}-\d\d-\d\d)\)", memory["content"])}
    assert len(days) == 1, days
    return days.pop()


def test_tomorrow_is_a_day_of_the_time_zone_that_the_request_names(stack):
    # 26 hours apart, these two never have the same day.
    by_header = [tomorrow(stack, headers={"x-memory-timezone": zone}) for zone in ZONES.values()]
    assert by_header[0] > by_header[1]
    by_field = [tomorrow(stack, memory_context={"timezone": zone}) for zone in ZONES.values()]
    assert by_field[0] > by_field[1]
