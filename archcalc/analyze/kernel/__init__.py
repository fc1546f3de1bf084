"""Softmax attention compared with kernel attention: what each costs, and from which length a kernel is cheaper."""
