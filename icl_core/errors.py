"""Errors that the user can fix, said in one sentence."""

import os
import stat


class InputError(ValueError):
    """A wrong file or configuration key.

    The message names the file or key, what was expected, what was found, and
    what to do. Scripts print it without a traceback and exit with code 1.
    """


def found_at(path: str | os.PathLike) -> str:
    """What stands at a path, in an error's words: "a file", "a folder", "no such file", ..."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "a link to nothing" if os.path.islink(path) else "no such file"
    except ValueError:
        return "a path that no file can have"
    except OSError as error:  # too long, too many links, not allowed
        return f"what cannot be looked at ({os.strerror(error.errno or 0).lower()})"
    kinds = {stat.S_ISREG: "a file", stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a pipe"}
    return next((words for is_kind, words in kinds.items() if is_kind(mode)), "a device")
