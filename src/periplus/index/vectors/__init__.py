"""Word vectors and document vectors: which words and documents are similar in meaning?"""
