"""The door for users of the library: learners, constraints and wrappers in the field's conventions.

It stands above all rooms: whatever it offers is made of their parts, and none of them knows it.
"""
