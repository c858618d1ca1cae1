/**
 * The Transformer: an encoder, and a decoder with a cache of keys and values that reads a token at a time.
 *
 * It computes what ptenmt/model/numpy_transformer.py does. Letters in comments: B rows, S source tokens, T target
 * tokens, D the model's width, H heads, K a head's width, V the vocabulary. A matrix is an array of rows.
 */

/**
 * The arrays of a model by name: {data: Float32Array, columns}; row by row.
 *
 * @param {Uint8Array} bytes - Vectors in float32, then matrices in int8: each row was multiplied by its scale.
 * @param {Record<string, number[]>} index - Where each begins, and its shape.
 * @param {Record<string, string>} aliases - Names of the same array.
 */
export function readArrays(bytes, index, aliases) {
  const entries = Object.entries(index).sort(([, one], [, other]) => one[0] - other[0]);
  const arrays = {};
  for (const [name, [from, rows, columns = 0]] of entries) {
    if (columns === 0) {
      arrays[name] = { data: new Float32Array(bytes.buffer, from, rows).slice(), columns };
      continue;
    }
    const rounded = new Int8Array(bytes.buffer, from, rows * columns);
    const scales = arrays[`${name}_scale`].data;
    const data = new Float32Array(rounded.length);
    for (let row = 0; row < rows; row += 1) {
      const end = (row + 1) * columns;
      for (let place = row * columns; place < end; place += 1) data[place] = rounded[place] / scales[row];
    }
    arrays[name] = { data, columns };
  }
  for (const [name, same] of Object.entries(aliases)) arrays[name] = arrays[same];
  return arrays;
}

export class Transformer {
  #logits = []; // of each row; used again, as they are large

  /**
   * @param {object} config - Options of ptenmt's section `model`.
   * @param {ReturnType<typeof readArrays>} arrays - Named as CTranslate2 does.
   */
  constructor(config, arrays) {
    Object.assign(this, { config, arrays });
  }

  /** The tokens of a source, from [START] to [END], that the encoder reads. */
  read(source) {
    const marks = this.config.source_marks;
    return source.slice(marks === "both" ? 0 : 1, marks === "none" ? -1 : undefined);
  }

  /** Encode a source: the decoder's state before its first step, of one row. */
  start(source) {
    const { memory } = this.#encode(source);
    const layers = [];
    for (let layer = 1; layer <= this.config.num_decoder_layers; layer += 1) {
      const projected = this.#linear(`decoder/layer_${layer - 1}/attention/linear_1`, memory);
      const [keys, values] = parts(projected, 2);
      layers.push({ cross: { keys, values }, self: [{ keys: [], values: [] }] });
    }
    return { layers, length: 0 };
  }

  /** The state of other rows, in their order; rows may repeat. */
  select(state, rows) {
    const layers = state.layers.map(({ cross, self }) => ({
      cross,
      self: rows.map((row) => ({ keys: [...self[row].keys], values: [...self[row].values] })),
    }));
    return { ...state, layers };
  }

  /**
   * Feed a token to each row of a state, which grows.
   *
   * @returns {{hidden: Float32Array[], weights: {self: number[][], cross: number[][]}[]}} [B, D], and for each layer
   *   the attention of the first row [H][keys].
   */
  step(tokens, state) {
    let x = tokens.map((token) => this.#embed("decoder/embeddings", token, state.length));
    const weights = [];
    state.layers.forEach(({ cross, self }, layer) => {
      const block = `decoder/layer_${layer}`;
      const seen = {};
      x = this.#residual(`${block}/self_attention`, x, (path, input) => {
        const [queries, keys, values] = parts(this.#linear(`${path}/linear_0`, input), 3);
        self.forEach((cache, row) => (cache.keys.push(keys[row]), cache.values.push(values[row])));
        const heads = queries.map((query, row) => this.#attend(query, self[row]));
        seen.self = heads[0].weights;
        return this.#linear(`${path}/linear_1`, heads.map(({ output }) => output));
      });
      x = this.#residual(`${block}/attention`, x, (path, input) => {
        const heads = this.#linear(`${path}/linear_0`, input).map((query) => this.#attend(query, cross));
        seen.cross = heads[0].weights;
        return this.#linear(`${path}/linear_2`, heads.map(({ output }) => output));
      });
      x = this.#feedForward(`${block}/ffn`, x);
      weights.push(seen);
    });
    state.length += 1;
    return { hidden: this.#norm("pre", "decoder", x), weights };
  }

  /** Map hidden states [B, D] to logits [B, V], which the next call overwrites. */
  project(hidden) {
    const { length } = this.arrays["decoder/projection/bias"].data;
    while (this.#logits.length < hidden.length) this.#logits.push(new Float32Array(length));
    return this.#linear("decoder/projection", hidden, this.#logits.slice(0, hidden.length));
  }

  /**
   * All attention weights, for T tokens that the decoder is fed after a source, named as ptenmt does.
   *
   * @returns {Record<string, number[][][]>} `encoder_layer{i}` [H][S][S], `decoder_layer{i}_block1` [H][T][T] (self)
   *   and `decoder_layer{i}_block2` [H][T][S] (cross).
   */
  attention(source, fed) {
    const named = {};
    this.#encode(source).weights.forEach((rows, layer) => (named[`encoder_layer${layer + 1}`] = byHead(rows)));
    const state = this.start(source);
    const steps = fed.map((token) => this.step([token], state).weights);
    state.layers.forEach((_, layer) => {
      const padded = (keys) => fed.map((_token, place) => keys[place] ?? 0); // none attends to what comes later
      named[`decoder_layer${layer + 1}_block1`] = byHead(steps.map((step) => step[layer].self.map(padded)));
      named[`decoder_layer${layer + 1}_block2`] = byHead(steps.map((step) => step[layer].cross));
    });
    return named;
  }

  /** [S, D], and for each layer the attention [S][H][S]. */
  #encode(source) {
    let x = this.read(source).map((id, position) => this.#embed("encoder/embeddings_0", id, position));
    const weights = [];
    for (let layer = 0; layer < this.config.num_encoder_layers; layer += 1) {
      x = this.#residual(`encoder/layer_${layer}/self_attention`, x, (path, input) => {
        const [queries, keys, values] = parts(this.#linear(`${path}/linear_0`, input), 3);
        const heads = queries.map((query) => this.#attend(query, { keys, values }));
        weights.push(heads.map((each) => each.weights));
        return this.#linear(`${path}/linear_1`, heads.map(({ output }) => output));
      });
      x = this.#feedForward(`encoder/layer_${layer}/ffn`, x);
    }
    return { memory: this.#norm("pre", "encoder", x), weights };
  }

  /** Look up an id, multiply by √D, and add sines and cosines of the position: [D]. */
  #embed(path, id, position) {
    const { data, columns } = this.arrays[`${path}/weight`];
    return Float32Array.from({ length: columns }, (_, place) => {
      const angle = position / 10000 ** ((place - (place % 2)) / columns);
      return data[id * columns + place] * Math.sqrt(columns) + (place % 2 ? Math.cos(angle) : Math.sin(angle));
    });
  }

  /** softmax(q kᵀ / √K) v for the H heads of one query [H · K]: the output [H · K] and the weights [H][keys]. */
  #attend(query, { keys, values }) {
    const size = query.length / this.config.num_heads;
    const output = new Float32Array(query.length);
    const weights = [];
    for (let from = 0; from < query.length; from += size) {
      const shares = new Array(keys.length).fill(0);
      for (let row = 0; row < keys.length; row += 1) {
        let score = 0;
        for (let place = from; place < from + size; place += 1) score += query[place] * keys[row][place];
        shares[row] = score / Math.sqrt(size);
      }
      softmax(shares);
      for (let row = 0; row < values.length; row += 1) {
        for (let place = from; place < from + size; place += 1) output[place] += shares[row] * values[row][place];
      }
      weights.push(shares);
    }
    return { output, weights };
  }

  /** x + sublayer(x), with a layer norm before or after. */
  #residual(path, x, sublayer) {
    const output = sublayer(path, this.#norm("pre", path, x));
    for (const [number, row] of output.entries()) {
      for (let place = 0; place < row.length; place += 1) row[place] += x[number][place];
    }
    return this.#norm("post", path, output);
  }

  #feedForward(path, x) {
    const activate = ACTIVATIONS[this.config.activation];
    return this.#residual(path, x, (_, input) => {
      const hidden = this.#linear(`${path}/linear_0`, input);
      for (const row of hidden) for (let place = 0; place < row.length; place += 1) row[place] = activate(row[place]);
      if (this.config.activation === "swiglu") {
        const gates = this.#linear(`${path}/linear_0_noact`, input);
        hidden.forEach((row, number) => gates[number].forEach((gate, place) => (row[place] *= gate)));
      }
      return this.#linear(`${path}/linear_1`, hidden);
    });
  }

  /** x Wᵀ + b: [B, inputs] -> [B, outputs], in new rows or these. Four sums at a time are faster than one. */
  #linear(path, x, outputs = null) {
    const { data: weight, columns: inputs } = this.arrays[`${path}/weight`];
    const { data: bias } = this.arrays[`${path}/bias`];
    const y = outputs ?? x.map(() => new Float32Array(bias.length));
    const whole = inputs - (inputs % 4);
    for (let output = 0, from = 0; output < bias.length; output += 1, from += inputs) {
      for (let number = 0; number < x.length; number += 1) {
        const row = x[number];
        let one = bias[output];
        let two = 0;
        let three = 0;
        let four = 0;
        for (let place = 0; place < whole; place += 4) {
          one += row[place] * weight[from + place];
          two += row[place + 1] * weight[from + place + 1];
          three += row[place + 2] * weight[from + place + 2];
          four += row[place + 3] * weight[from + place + 3];
        }
        for (let place = whole; place < inputs; place += 1) one += row[place] * weight[from + place];
        y[number][output] = one + two + (three + four);
      }
    }
    return y;
  }

  /** A layer norm, if the model has one at this position: before ("pre") or after ("post") the sub-layer. */
  #norm(position, path, x) {
    if (this.config.norm !== position) return x;
    const [gamma, beta] = ["gamma", "beta"].map((name) => this.arrays[`${path}/layer_norm/${name}`].data);
    return x.map((row) => {
      const mean = sum(row) / row.length;
      let squares = 0;
      for (let place = 0; place < row.length; place += 1) squares += (row[place] - mean) ** 2;
      const scale = Math.sqrt(squares / row.length + this.config.norm_epsilon);
      const y = new Float32Array(row.length);
      for (let place = 0; place < y.length; place += 1) y[place] = ((row[place] - mean) / scale) * gamma[place] + beta[place];
      return y;
    });
  }
}

/** Cut every row into so many parts: [B, n · D] -> n times [B, D]. */
function parts(x, count) {
  const size = x[0].length / count;
  return Array.from({ length: count }, (_, part) => x.map((row) => row.subarray(part * size, (part + 1) * size)));
}

/** [T][H][S] -> [H][T][S] */
function byHead(rows) {
  return rows[0].map((_, head) => rows.map((heads) => heads[head]));
}

/** In place of scores, the probabilities. */
function softmax(scores) {
  let largest = -Infinity;
  for (let place = 0; place < scores.length; place += 1) largest = Math.max(largest, scores[place]);
  for (let place = 0; place < scores.length; place += 1) scores[place] = Math.exp(scores[place] - largest);
  const total = sum(scores);
  for (let place = 0; place < scores.length; place += 1) scores[place] /= total;
}

export function sum(numbers) {
  let total = 0;
  for (let place = 0; place < numbers.length; place += 1) total += numbers[place];
  return total;
}

const swish = (x) => x / (1 + Math.exp(-x));
const ACTIVATIONS = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => (x * (1 + erf(x / Math.SQRT2))) / 2,
  swish,
  swiglu: swish, // of the gate
};

/** The error function to 1.5e-7 (Abramowitz and Stegun 1964, formula 7.1.26). */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const coefficients = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
  const series = coefficients.reduce((total, coefficient) => (total + coefficient) * t, 0);
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
}
