"""One worker's loop: lease a host, keep its delay, run the steps."""
