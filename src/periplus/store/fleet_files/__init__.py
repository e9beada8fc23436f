"""How do the files of a fleet get from the node that wrote them to those that need them?"""
