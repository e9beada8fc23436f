"""Parses responses: what is on this page?"""
