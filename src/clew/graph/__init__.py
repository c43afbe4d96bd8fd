"""What is connected, and how far does a signal carry?"""
