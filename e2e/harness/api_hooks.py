"""What Schemathesis cannot read in the description of the API: a user who has memories, and ids of things that exist. Loaded by
Schemathesis, not by the tests.

Three of four requests are about them, so that most get past the first check; the fourth is sent as it was generated. What
deletes is always sent as it was generated, or there would soon be nothing left.
"""

import itertools
import json
import os

import schemathesis

USER = os.environ["MEMGATE_E2E_USER"]
# The id for each path with one.
IDS = json.loads(os.environ["MEMGATE_E2E_IDS"])

sent = itertools.count()


@schemathesis.hook
def before_call(context, case, **_):
    if case.method == "DELETE" or next(sent) % 4 == 0:
        return
    parameters = {parameter.name for parameter in case.operation.query}
    if isinstance(case.body, dict) and "user_id" in case.body:
        case.body = {**case.body, "user_id": USER}
    elif "user_id" in parameters:
        case.query = {**(case.query or {}), "user_id": USER}
    if case.operation.path in IDS:
        case.path_parameters = {"id": IDS[case.operation.path]}


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    text = value if isinstance(value, str) else "\n".join(json.dumps(line) for line in (value if isinstance(value, list) else [value]))
    return text.encode(errors="replace")
