"""Run one operator on the teaching chip, and see where every cycle of its array went."""

from accelsim import run

finished = run("toy", "gemm:m=64,n=64,k=64")
operator, = finished.report.done

print(f"{operator.name} on {finished.report.chip}: {operator.cycles:,} cycles measured, "
      f"{operator.estimate.cycles:,} estimated, utilization {operator.utilization:.1%}")

array = operator.lanes["MAC"]
print(f"{'busy':<16} {array.busy_cycles:>10,.0f}")
for cause, cycles in sorted(operator.stalls.items(), key=lambda item: -item[1]):
    print(f"{cause.code:<16} {cycles:>10,}")
print(f"{'idle':<16} {array.idle_cycles:>10,.0f}")
print(f"{'sum':<16} {array.busy_cycles + sum(operator.stalls.values()) + array.idle_cycles:>10,.0f}")

print()
print(operator.case.mapping.loop_nest(operator.case.operator))
