"""Second readers of a shortlist: models that read a query beside each of a few candidates, path and children included.

A reader is slower than everything before it and sees only what retrieval has left over. Each has one method,
`Reader.score`; its scores order candidates of one query and mean nothing across queries.
"""
