"""ICL with what a development suite may add to it, each part of which can be switched off.

Demonstrations that are held out decide which step of an adjustment is kept, and if wished which
iteration (`judging`). Several networks learn from the same data, and their mean is the constraint
(`ensemble`). Some demonstrations may break the constraint, and c may be smooth (`objective`). With
all of it off the algorithm is ICL's, bit by bit.
"""
