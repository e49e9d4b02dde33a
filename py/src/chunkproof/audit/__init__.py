"""Audits: what a published number is worth. Claims are read, recomputed by the engines, compared, and differences explained.

Like the rest of the harness this imports no engine room: whatever decides a verdict is asked of the engines as processes, of all of
them alike, and where they do not agree there is no verdict.
"""
