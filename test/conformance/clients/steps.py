"""What the programs in Python share: one printed line for each thing that a client did."""


def step(what, action):
    """Runs an action; the line says what it was and whether it went well."""
    try:
        action()
        print(f"ok - {what}", flush=True)
    except Exception as error:
        text = " ".join(f"{type(error).__name__} {error}".split())
        print(f"not ok - {what} # {text}", flush=True)


def equal(actual, expected):
    assert actual == expected, f"{actual!r} where {expected!r} was expected"


def fails(action, sqlstate):
    """The action must raise an error of this SQLSTATE; gives the error."""
    try:
        action()
    except Exception as error:
        found = getattr(error, "pgcode", None) or getattr(error, "sqlstate", None)
        found = found or getattr(getattr(error, "orig", None) or error.__cause__, "pgcode", None)
        assert found == sqlstate, f"{found} ({error}) where {sqlstate} was expected"
        return error
    raise AssertionError(f"no error where {sqlstate} was expected")
