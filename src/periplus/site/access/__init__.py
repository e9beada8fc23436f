"""Who may see and change the pages of a console: a person on this machine, a session, or a program with a token."""
