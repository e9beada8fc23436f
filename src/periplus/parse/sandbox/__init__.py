"""Parses documents that may crash, hang or take over their parser, in a sandboxed child process."""
