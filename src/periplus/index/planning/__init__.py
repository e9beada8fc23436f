"""Which documents will a new generation have, and which of them are new?"""
