"""Which images and videos does a page show, and which words describe them?"""
