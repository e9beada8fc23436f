"""Where are bytes and rows kept?"""
