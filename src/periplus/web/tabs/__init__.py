"""The tabs of the result page: images, videos, news and PDF."""
