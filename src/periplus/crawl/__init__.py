"""One worker's loop: take a host, keep its delay, run the steps."""
