"""Publications that the identities cite, each in one line."""

from __future__ import annotations

ALIBI = "Press, Smith & Lewis 2022, Train Short, Test Long (ALiBi), arXiv:2108.12409"
BAHDANAU = (
    "Bahdanau, Cho & Bengio 2015, Neural Machine Translation by Jointly Learning to Align and Translate,"
    " arXiv:1409.0473"
)
BALDI = "Baldi & Hornik 1989, Neural Networks and Principal Component Analysis, Neural Networks 2(1)"
BISHOP = "Bishop & Bishop 2024, Deep Learning: Foundations and Concepts"
BRIDLE = (
    "Bridle 1990, Probabilistic Interpretation of Feedforward Classification Network Outputs, with Relationships to"
    " Statistical Pattern Recognition, Neurocomputing (NATO ASI F68)"
)
CHO = (
    "Cho et al. 2014, Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation,"
    " arXiv:1406.1078"
)
CHUNG = (
    "Chung et al. 2014, Empirical Evaluation of Gated Recurrent Neural Networks on Sequence Modeling, arXiv:1412.3555"
)
CORDONNIER = (
    "Cordonnier, Loukas & Jaggi 2020, On the Relationship between Self-Attention and Convolutional Layers,"
    " arXiv:1911.03584"
)
CRAIG = "Craig 1936, On the Frequency Function of xy, Annals of Mathematical Statistics 7(1)"
CS224N = "Stanford CS224n, assignment Self-Attention, Transformers, and Pretraining, question Attention Exploration"
DEEP_LEARNING = "Goodfellow, Bengio & Courville 2016, Deep Learning"
GEHRING = "Gehring et al. 2017, Convolutional Sequence to Sequence Learning, arXiv:1705.03122"
GERS = "Gers, Schmidhuber & Cummins 2000, Learning to Forget, Neural Computation 12(10)"
KATHAROPOULOS = "Katharopoulos et al. 2020, Transformers are RNNs, arXiv:2006.16236"
KERAS = "Keras API reference, GRU layer, argument reset_after"
KUNIN = "Kunin et al. 2019, Loss Landscapes of Regularized Linear Autoencoders, arXiv:1901.08168"
LSTM = "Hochreiter & Schmidhuber 1997, Long Short-Term Memory, Neural Computation 9(8)"
LUONG = (
    "Luong, Pham & Manning 2015, Effective Approaches to Attention-based Neural Machine Translation, arXiv:1508.04025"
)
RABE = "Rabe & Staats 2021, Self-attention Does Not Need O(n²) Memory, arXiv:2112.05682"
ROPE = "Su et al. 2021, RoFormer (RoPE), arXiv:2104.09864"
SET_TRANSFORMER = "Lee et al. 2019, Set Transformer, arXiv:1810.00825"
SHAW = "Shaw, Uszkoreit & Vaswani 2018, Self-Attention with Relative Position Representations, arXiv:1803.02155"
SOCHER = "Socher et al. 2011, Semi-Supervised Recursive Autoencoders, EMNLP 2011"
SPARSEMAX = "Martins & Astudillo 2016, From Softmax to Sparsemax, arXiv:1602.02068"
VASWANI = "Vaswani et al. 2017, Attention Is All You Need, arXiv:1706.03762"
VIT = "Dosovitskiy et al. 2021, An Image is Worth 16x16 Words, arXiv:2010.11929"
