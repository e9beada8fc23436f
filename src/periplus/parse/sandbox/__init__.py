"""How is a document parsed that may crash, hang or take over its parser?"""
