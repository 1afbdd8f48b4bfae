"""Errors that the user can fix, said in one sentence."""


class InputError(ValueError):
    """A wrong file or configuration key.

    The message names the file or key, what was expected, what was found, and
    what to do. Scripts print it without a traceback and exit with code 1.
    """
