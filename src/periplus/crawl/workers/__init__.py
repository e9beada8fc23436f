"""The processes of a crawl: their supervisor, their loop, and what they write, report and obey."""
