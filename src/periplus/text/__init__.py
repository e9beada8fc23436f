"""Analyzers and simhashes: what is a word, and which texts are nearly the same?"""
