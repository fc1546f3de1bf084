"""Habits of training code: the choices in which implementations of the same layer differ, each with its meaning."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from archcalc.core.errors import InputError, did_you_mean


def habit(**choices: str) -> Any:
    """A habit's choices with a sentence each; the first one is that of `plain`."""
    return field(default=next(iter(choices)), metadata=choices)


@dataclass(frozen=True)
class Habits:
    """Every choice; the defaults are those of archcalc's own reference."""

    rms_norm: str = habit(
        plain="nn.RMSNorm as PyTorch computes it step by step: fp32 input, normalised values and statistics are saved",
        fused="one kernel, which saves its input and one statistic for each row (aten._fused_rms_norm)",
        upcast="in Python: fp32 copy, square, mean, product; cast back, then times the weight in 16 bits",
        upcast_product="the same, with the product with the weight in fp32 too, and cast back behind it",
        upcast_statistics="in Python: the mean square in fp32; the input by its root, cast back, times the weight",
        narrow="in Python, in the activations' number format",
        upcast_weight="in Python, all of it in fp32, the product with 1 + weight too; cast back at the end",
    )
    layer_norm: str = habit(
        plain="one kernel, which saves its input, and a mean and a deviation for each row",
        steps="in Python and in fp32: mean, difference, square, mean, product with the root and with the weight",
        fp32="the kernel on an fp32 copy, cast back",
    )
    rotary: str = habit(
        plain="one op that saves the tables of cosines and sines",
        rotate_half="x · cos + rotate_half(x) · sin in the activations' number format",
        complex="queries and keys as fp32 complex numbers, times a complex table, cast back",
        fp32="x · cos + rotate_half(x) · sin in fp32, cast back",
        fp32_tables="the same of 16-bit queries and keys with fp32 tables, cast back (OLMo)",
        halves="both halves of a head apart, then joined (DeepSeek-V3)",
        pairs="queries and keys in fp32, even and odd numbers apart, stacked and cast back (torchtune)",
        joined="the same of 16-bit queries and keys with fp32 tables, joined with what is not rotated, if anything",
    )
    rotary_parts: str = habit(
        needed="the rotated part of a head is joined with the rest if there is a rest",
        always="the rotated part is joined with the rest, also with an empty one (GPT-NeoX)",
    )
    layer_tables: str = habit(
        shared="all layers read the same tables of cosines and sines",
        repeated="each layer makes tables of its own, with every number twice (GLM)",
    )
    qkv: str = habit(
        separate="queries, keys and values are made by a matrix each",
        split="one matrix makes all three, which are views of its result, and adapters are those of the whole matrix",
        split_heads="the same, where each head has its queries, keys and values side by side",
        copied="one matrix makes all three, and each is copied out of its result (torchtitan since June 2026)",
        interleaved="one matrix makes them group by group of heads: views, or copies for every head (litgpt)",
        behind="one matrix makes them behind each other: views, each with adapters of its own (litgpt)",
    )
    gelu: str = habit(
        kernel="GELU is one kernel, unless a config names another",
        python="GELU is written in Python, by the error function, whatever a config names (ESM)",
        tanh_python="GELU is written in Python, by tanh, whatever a config names (GPT)",
    )
    scores: str = habit(
        plain="eager attention computes scores in the activations' number format",
        fp32="queries and keys are cast to fp32 for them, and weights back (GPT-J)",
    )
    sinks: str = habit(
        joined="an attention sink is one more score of each row",
        scaled="it is a factor on what eager attention gives, by the logarithm of a sum (GraniteSWA)",
    )
    gate_up: str = habit(
        separate="gate and up of a feed-forward layer are made by a matrix each",
        split="one matrix makes both, which are views of its result",
    )
    attention: str = habit(
        fused="a kernel that stores no scores: flash attention in 16 bits, PyTorch's memory-efficient one in fp32",
        eager="scores are stored: the library's class calls no kernel unless it is asked to",
    )
    kv_heads: str = habit(
        view="attention kernels read keys and values of a group of heads where they are",
        copy="keys and values are copied for every head before attention",
    )
    fp32_kernel: str = habit(
        flash="attention in fp32 keeps what it keeps in 16 bits",
        efficient="attention in fp32 is PyTorch's memory-efficient kernel, with statistics for a multiple of 32 rows",
    )
    capped: str = habit(
        plain="attention with capped scores is a kernel that keeps a number for each row",
        flash_attn="that of the flash-attn package, which keeps the state of its random numbers too",
    )
    zeros: str = habit(
        constant="zeros in the place of a bias want no gradient",
        leaf="they want one where blocks are recomputed (T5Attention.forward)",
    )
    loss: str = habit(
        fp32="logits are cast to fp32, log-probabilities are saved in fp32",
        model_fp32="the same, and the model itself returns fp32 logits",
        shifted="the same in a function that holds both logits, and a shifted copy of the labels (ForCausalLMLoss)",
        shifted_logits="the same, with a shifted copy of the fp32 logits (ForCausalLMLoss of transformers until 4.48)",
        in_place="one kernel, which turns the logits into their gradient",
        in_place_fp32="logits are cast to fp32, and those turned into probabilities and then into their gradient",
        of_logits="log-probabilities in the number format of the logits, for labels as they are",
    )
    loss_chunks: str = habit(
        freed="each chunk's logits are freed before the next",
        list="the head makes a list of chunks, which all stay; each is cast to fp32 by itself (torchtune)",
        packed="rows with a label stand first; each chunk's logits are freed, and computed again going back (TRL)",
        backward="each chunk's loss goes back before the next chunk's logits are made (torchtitan since April 2026)",
        views="chunks of all logits, each cast to fp32 by itself (torchtitan's pull request 996)",
    )
    usual_chunks: str = habit(
        one="the loss is computed at once unless chunks are asked for",
        eight="the loss is computed in eight chunks unless a number is asked for",
    )
    compiled: str = habit(
        all="torch.compile takes the blocks and the loss",
        blocks="torch.compile takes the blocks alone",
        chunked_loss="torch.compile takes the blocks, and a loss in chunks, but not a whole one",
    )
    kernels: str = habit(
        outputs="kernels take memory for what they return",
        workspaces="and for what they compute in: cuBLAS, and flash attention's backward pass",
    )
    head: str = habit(
        whole="the head reads all positions at once",
        chunks="the head and the loss read 128 positions after the other; all logits are there, in fp32 (litgpt)",
    )
    parallel_head: str = habit(
        divided="tensor parallelism: logits stay divided by vocabulary, and so does the loss",
        gathered="tensor parallelism: every GPU gathers all logits (transformers, colwise_gather_output)",
    )
    tied: str = habit(
        shared="a tied head reads the embedding's table",
        never="the head always has a matrix of its own (litgpt)",
    )
    dropout: str = habit(
        said="dropout as the model's spec or config says",
        none="no dropout in the model, whatever a config says",
    )
    accumulation: str = habit(
        one="an optimizer's step follows every backward pass",
        several="gradients of several micro-batches are added up unless a number is asked for",
    )
    longest: str = habit(
        every="every iteration is as long as the one that is asked about",
        first="the longest sequence comes first, so that nothing is left of an iteration before it",
    )
    quantised_inputs: str = habit(
        freed="products with 4-bit weights keep nothing of what they read (bitsandbytes since 0.43.2)",
        held="such products keep what they read as long as the graph lives (bitsandbytes until 0.43.1)",
    )
    embedding_scale: str = habit(
        plain="embeddings are used as they are",
        buffer="a table multiplies what it gives by a number that it keeps in a buffer",
        number="the model multiplies embeddings by a number",
    )
    logits_scale: str = habit(plain="logits are used as they are", number="logits are multiplied by a number")
    qk_norm: str = habit(
        behind="queries and keys are normalised once queries, keys and values have been projected",
        at_once="queries and keys are each normalised as soon as they have been projected",
    )
    embeddings: str = habit(
        plain="embeddings want a gradient if their table is trained",
        asked="in front of recomputed blocks embeddings always want one (transformers, enable_input_require_grads)",
    )
    adapters: str = habit(
        plain="low-rank adapters are in the number format of the weights",
        fp32="low-rank adapters are in fp32, on an fp32 copy of their input (peft, autocast_adapter_dtype)",
        narrow="low-rank adapters stand beside a whole linear layer, in the number format of its input (peft)",
        dropped="dropout in front of adapters; those of queries, keys and values are one (litgpt)",
    )
    registered: str = habit(
        running="a layer lists its parameters in the order in which it uses them",
        norms_last="the same, with norms behind all else of a layer",
        norms_first="the same, with norms in front of all else of a block",
        norms_behind="the same, with each norm behind what reads it",
        experts_first="norms last, and experts in front of their router",
        bert="the same as running, with the table of types behind that of positions",
        vit="attention, norms, feed-forward layer; vectors of the embedding in front of its convolution",
    )
    bias: str = habit(
        plain="a bias is added to a product in an op of its own",
        joined="a linear layer adds its bias in the kernel of its product (addmm)",
    )
    variables: str = habit(
        passing="a tensor is let go of after its last use",
        held="Python's variables hold tensors until a function returns, as transformers' modules are written",
    )
    masks: str = habit(
        needed="a mask for each kind of layer that reads one",
        every="masks of all kinds of layers, be there such layers or not (Gemma3TextModel.forward)",
    )
    mask_buffers: str = habit(
        none="masks are made in each forward pass",
        bools="every attention keeps a mask of all positions that the model knows, in bools (GPT-Neo)",
        numbers="the same in the number format of the weights (GPT)",
    )
    position_ids: str = habit(
        counted="places of tokens are counted in every forward pass, and held until the model returns",
        buffer="they are a buffer of the embedding, as long as its table, and so are types (BertEmbeddings)",
        passing="they are let go of when rows of a table have been looked up",
    )
    position_bias: str = habit(
        stack="a learned bias for distances is computed in front of the blocks",
        host="the same, by indices that are kept on the host (BEiT)",
        first_block="the first block computes it and hands it on; cross-attention adds one of zeros (T5Attention)",
    )
    branch_inputs: str = habit(
        branch="what attention or a feed-forward layer is given is held until it returns",
        added="until what it gives is added",
        block="until the block returns",
    )
    branch_outputs: str = habit(
        passing="what attention or a feed-forward layer gives is let go of when it has been added",
        added="what it gives in front of dropout is held until it has been added",
        norm="it is held until the norm behind the sum returns (BertSelfOutput.forward)",
        block="it is held until the block returns",
    )
    heads_held: str = habit(
        attention="queries, keys and values are held until attention returns",
        dropout="until the dropout behind attention is done, which is a part of its function (GPT2Attention)",
        core="until the output projection, which is a function of its own (BertSelfAttention)",
    )
    rotated_parts: str = habit(
        passing="parts of queries and keys that are rotated are let go of when they have been joined",
        attention="both parts are held until attention returns (PhiAttention.forward)",
    )
    gates: str = habit(
        passing="factors of a gated layer are let go of when they have been multiplied",
        held="they are held until the layer returns (T5DenseGatedActDense.forward)",
    )
    tied_head: str = habit(
        plain="a tied head reads what the last block gives",
        scaled="that is multiplied by a number in front of a tied head (T5ForConditionalGeneration.forward)",
    )
    batch: str = habit(
        passing="ids and labels are there while they are needed",
        held="the training loop holds ids, labels and the loss until the optimizer's step is done",
    )
    logits_held: str = habit(
        no="the logits are let go of when the loss has read them",
        loss="the training loop holds the logits until the loss is computed",
        backward="the training loop holds the logits until the backward pass is done",
        next_forward="the training loop holds the logits until the next forward pass has returned its own",
    )
    reshard: str = habit(
        always="FSDP: every block frees its gathered weights after its forward pass",
        all_but_last="FSDP: every block but the last, whose weights the backward pass needs first",
    )
    fsdp_groups: str = habit(
        blocks="FSDP: a group for each block, and one for all else, which stays gathered",
        ends="FSDP: groups of their own for the embedding and for the last norm with the head",
    )
    linears: str = habit(
        apart="a matrix product for each of queries, keys and values, and for gate and up",
        merged="one product for queries, keys and values, and one for gate and up",
    )
    gated: str = habit(
        plain="activation and product with the gate are two ops, and the activation's output is kept",
        fused="one kernel, which saves what it reads",
    )
    experts: str = habit(
        plain="tokens are sorted by expert, and answers are weighed by the router behind the last product",
        grouped="one product for all experts, of rows sorted by them; gate and up are one matrix (transformers)",
        weighed_inside="by all-to-all, the router's weights multiplied into the activation; variables hold buffers",
    )
    router: str = habit(
        plain="probabilities of experts in the activations' number format",
        divided="probabilities in fp32; those of chosen experts, divided by their sum, stay so (Mixtral)",
        cast="the same, divided if a config says so (norm_topk_prob), and cast back",
        wide="the same, divided if a config says so, in fp32 (DeepSeek-V3)",
    )
    router_product: str = habit(
        plain="the router's matrix product is in the activations' number format",
        fp32="it reads fp32 copies of tokens and of the matrix",
    )
    gathered: str = habit(
        kept="sequence parallelism: the gathered input of a product is kept for the backward pass",
        again="sequence parallelism: each GPU keeps its part of the input, and gathers it again in the backward pass",
    )
    context: str = habit(
        gathered="context parallelism: keys and values of all GPUs are gathered",
        p2p="context parallelism: keys and values travel around a ring of GPUs",
        a2a="context parallelism: an all-to-all trades positions for heads, and back behind attention",
    )
    gradients: str = habit(
        made="gradients are made in the backward pass, and freed after the optimizer's step",
        resident="fp32 gradients of all parameters are there from the beginning; products add to them without a copy",
    )
    dummies: str = habit(
        none="nothing stands for the gradients of weights",
        by_shape="for each shape of a matrix one unused tensor that stands for the gradient, and stays",
    )
    vocabulary: str = habit(
        exact="as many rows as there are words", padded="padded to a multiple of 128 rows on each GPU"
    )
    sharding: str = habit(
        zero="ZeRO's stages 1 to 3", optimizer="a distributed optimizer, which is ZeRO's stage 1, or none"
    )
    pipeline: str = habit(
        none="layers are not divided among pipeline stages",
        one_forward_one_backward="equally many consecutive layers for each stage; one forward pass, one backward pass",
    )
    expert_parallel: str = habit(none="experts are not dealt out to GPUs", all_to_all="tokens travel to their experts")
    optimizer: str = habit(adamw="AdamW over all parameters at once (foreach)", **{"adamw-fused": "fused AdamW"})
    allocator: str = habit(plain="PyTorch's default segments", expandable="expandable segments")

    @property
    def overwrites_logits(self) -> bool:
        return self.loss in ("in_place", "in_place_fp32")

    @property
    def chunks(self) -> int:
        """Of the loss, where no number is asked for."""
        return 8 if self.usual_chunks == "eight" else 1

    @property
    def micro_batches(self) -> int:
        """Of an optimizer's step, where no number is asked for; in front of the first one no gradients are there."""
        return 2 if self.accumulation == "several" and self.longest == "every" else 1

    def compiles(self, loss_chunks: int) -> str:
        """What torch.compile takes: blocks, or all."""
        if self.compiled == "chunked_loss":
            return "all" if loss_chunks > 1 else "blocks"
        return self.compiled

    def model_casts_logits(self, loss_chunks: int) -> bool:
        """Whether the model returns fp32 logits: not as a list of chunks."""
        return self.loss == "model_fp32" and (loss_chunks == 1 or self.loss_chunks != "list")

    @classmethod
    def of(cls, said: dict[str, str], where: str) -> Habits:
        """Habits by name, each one checked."""
        known = {one.name: one.metadata for one in fields(cls)}
        for name, value in said.items():
            if name not in known:
                raise InputError(f"no habit called {name}", did_you_mean(name, known), field=where)
            if value not in known[name]:
                raise InputError(f"{name} has no choice {value}", did_you_mean(value, known[name]), field=where)
        return cls(**said)
