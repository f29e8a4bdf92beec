"""One module a contender: it is given a job, fits, predicts, and prints what was measured as one JSON line.

Contenders run in environments of their own, so a module imports its library, numpy and what stands here, no more.
"""
