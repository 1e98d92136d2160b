"""Which dataflow suits which shape on gemmini? Each named one, estimated and measured, and what auto takes."""

from accelsim import Options, run

DATAFLOWS = ("weight-stationary", "output-stationary", "input-stationary", "auto")
SHAPES = {"square": "gemm:m=128,n=128,k=128,dtype=int8", "tall": "gemm:m=512,n=16,k=64,dtype=int8",
          "one row": "gemm:m=1,n=256,k=256,dtype=int8"}

for shape, workload in SHAPES.items():
    print(f"{shape}: {workload}")
    for dataflow in DATAFLOWS:
        operator, = run("gemmini", workload, Options(dataflow=dataflow)).report.done
        chosen = operator.case.mapping.origin.partition(" (")[0]
        print(f"  {chosen:<32} {operator.cycles:>7,} cycles  (estimated {operator.estimate.cycles:>6,})  "
              f"utilization {operator.utilization:5.1%}")
