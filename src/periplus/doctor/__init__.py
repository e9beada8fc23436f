"""Will Periplus work well on this machine, and if not, what is to be done?"""
