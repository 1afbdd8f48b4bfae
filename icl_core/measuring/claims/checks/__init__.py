"""The checks, by topic: a function with `@reads(...)` here is a check, and no list has it."""
