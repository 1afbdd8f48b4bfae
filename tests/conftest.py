"""What all tests share: how hypothesis runs."""

from hypothesis import settings

# Its deadlines are of wall time: on a busy machine they fail tests that are right.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
