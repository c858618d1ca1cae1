"""Baseline: PyTorch's ``nn.Transformer`` on ptenmt's batches, of the same sizes as ptenmt's model.

    python torch_training.py TASK_FOLDER default|tuned

``default`` also applies dropout to attention weights and to the inner activations of the feed-forward layers:
``nn.Transformer`` has one dropout rate for all. ``tuned`` does not, like ptenmt's default, so that PyTorch
can use its fused attention. Both: fused Adam; no padding mask for the target, because the causal mask hides
padding from all real tokens; no accuracy; PyTorch's default number of threads.
"""

import sys
from itertools import cycle
from pathlib import Path

import torch
from interleave import Turns
from task import WARMUP_STEPS, Sizes, Task, count_labels, positional_encoding
from torch import nn

STEPS_BETWEEN_LINES = 50


class TorchTransformer(nn.Module):
    """Source ids [B, S] and decoder input [B, T] -> logits [B, T, V]."""

    def __init__(self, sizes: Sizes, tuned: bool) -> None:
        super().__init__()
        self.scale = sizes.d_model**0.5
        self.source_embedding = nn.Embedding(sizes.source_vocabulary, sizes.d_model)
        self.target_embedding = nn.Embedding(sizes.target_vocabulary, sizes.d_model)
        positions = torch.from_numpy(positional_encoding(sizes.max_positions, sizes.d_model))
        self.register_buffer("positions", positions)
        self.dropout = nn.Dropout(sizes.dropout)
        self.transformer = nn.Transformer(
            sizes.d_model,
            sizes.num_heads,
            sizes.num_layers,
            sizes.num_layers,
            sizes.d_ff,
            sizes.dropout,
            layer_norm_eps=1e-6,
            batch_first=True,
        )
        self.final = nn.Linear(sizes.d_model, sizes.target_vocabulary)
        if tuned:
            self.reduce_dropout()

    def reduce_dropout(self) -> None:
        """Apply dropout only to embeddings and to the sub-layers' outputs."""
        for module in self.transformer.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            if isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout = nn.Identity()

    def embed(self, table: nn.Embedding, ids: torch.Tensor) -> torch.Tensor:
        return self.dropout(table(ids) * self.scale + self.positions[: ids.shape[1]])

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        padding = source == 0
        decoded = self.transformer(
            self.embed(self.source_embedding, source),
            self.embed(self.target_embedding, target),
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(target.shape[1], dtype=torch.bool),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return self.final(decoded)


def main() -> None:
    task = Task(Path(sys.argv[1]))
    sizes = task.sizes()
    turns = Turns()
    model = TorchTransformer(sizes, tuned=sys.argv[2] == "tuned").train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9, fused=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda step: sizes.d_model**-0.5 * min((step + 1) ** -0.5, (step + 1) * WARMUP_STEPS**-1.5),
    )
    cross_entropy = nn.CrossEntropyLoss(ignore_index=0)
    mixed = task.precision() != "float32"
    for step, (source_ids, target_ids) in enumerate(cycle(task.batches())):
        source, target = torch.from_numpy(source_ids), torch.from_numpy(target_ids)
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
            logits = model(source, target[:, :-1])
            loss = cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % STEPS_BETWEEN_LINES == 0:
            print(f"step {step} loss {loss.item():.4f}")
        turns.count(count_labels(target_ids))


if __name__ == "__main__":
    main()
