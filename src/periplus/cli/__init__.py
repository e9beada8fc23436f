"""The commands of `periplus`: options, output and exit codes."""
