"""The forward index and its lexicon: which words does a document have, in order?"""
