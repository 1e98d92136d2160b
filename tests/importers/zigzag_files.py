"""Small files as ZigZag reads them: a 2 x 2 array with a register of weights in each multiplier, an SRAM and a DRAM."""

ACCELERATOR = """\
name: small
memories:
  reg_w:
    size: 8
    r_cost: 0.1
    w_cost: 0.1
    area: 0
    latency: 1
    operands: [I2]
    ports:
      - {name: r_port_1, type: read, bandwidth_min: 8, bandwidth_max: 8, allocation: ["I2, tl"]}
      - {name: w_port_1, type: write, bandwidth_min: 8, bandwidth_max: 8, allocation: ["I2, fh"]}
    served_dimensions: []
  sram:
    size: 8192
    r_cost: 1
    w_cost: 1
    area: 0
    latency: 1
    operands: [I1, O]
    ports:
      - {name: r_port_1, type: read, bandwidth_min: 8, bandwidth_max: 64, allocation: ["I1, tl", "O, tl", "O, th"]}
      - {name: w_port_1, type: write, bandwidth_min: 8, bandwidth_max: 64, allocation: ["I1, fh", "O, fh", "O, fl"]}
    served_dimensions: [D1, D2]
  dram:
    size: 8000000
    r_cost: 10
    w_cost: 10
    area: 0
    latency: 1
    operands: [I1, I2, O]
    ports:
      - name: rw_port_1
        type: read_write
        bandwidth_min: 64
        bandwidth_max: 64
        allocation: ["I1, fh", "I1, tl", "I2, fh", "I2, tl", "O, fh", "O, tl", "O, fl", "O, th"]
    served_dimensions: [D1, D2]
operational_array:
  unit_energy: 0.04
  unit_area: 1
  dimensions: [D1, D2]
  sizes: [2, 2]
"""
WORKLOAD = """\
- id: 0
  operator_type: Gemm
  equation: O[b][k]+=I[b][c]*W[c][k]
  dimension_relations: []
  loop_dims: [B, C, K]
  loop_sizes: [4, 4, 4]
  operand_precision: {I: 8, W: 8, O: 16, O_final: 8}
  operand_source: {I: 0, W: 0}
"""
MAPPING = """\
- name: default
  spatial_mapping:
    D1: ["K, 2"]
    D2: ["C, 2"]
  temporal_ordering:
    - [B, 4] # innermost
    - [C, 2]
    - [K, "*"]
  memory_operand_links: {O: O, W: I2, I: I1}
"""
ONE_MEMORY = """\
name: one-memory
memories:
  l1:
    size: 8192
    operands: [I1, I2, O]
    ports:
      - {name: r_port_1, type: read, bandwidth_max: 16, allocation: ["I1, tl"]}
      - {name: r_port_2, type: read, bandwidth_max: 16, allocation: ["I2, tl"]}
      - {name: rw_port_1, type: read_write, bandwidth_max: 1024, allocation: ["O, tl", "O, fl"]}
    served_dimensions: [D1, D2]
operational_array: {dimensions: [D1, D2], sizes: [2, 2]}
"""
