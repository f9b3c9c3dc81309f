"""Reports of users of memory layers, gateways and clients: every case of testdata/field is played through Envoy."""

import pytest

from harness import field


def parameter(case):
    """A problem that is known to be open must still occur: who mends it takes the mark away."""
    marks = [pytest.mark.xfail(strict=True, reason=case["open"])] if "open" in case else []
    return pytest.param(case, id=case["id"], marks=marks)


@pytest.mark.parametrize("case", [parameter(case) for case in field.cases()])
def test_a_reported_problem_does_not_occur(stack, case):
    failures = field.Play(stack).failures(case)
    assert not failures, "\n".join([case["what"], *failures])


def test_an_unknown_step_or_expectation_fails_the_case(stack):
    for case, named in (
        ({"input": [{"shout": "hello"}], "expect": []}, "shout"),
        ({"input": [{"list": {}, "label": "mem"}], "expect": [{"at": "mem", "memories_like": []}]}, "memories_like"),
        ({"input": [], "expect": [{"at": "nowhere", "status": 200}]}, "nowhere"),
    ):
        with pytest.raises(AssertionError, match=named):
            field.Play(stack).failures(case)
