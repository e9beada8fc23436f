"""The demo: serves, crawls and searches the documentation on this machine, offline."""
