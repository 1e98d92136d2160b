"""Where on a mesh of cores the memory is, in a corner or in the middle, when a wire carries half of what a node sends.

All that a core reads comes over the mesh from the memory's node, along x first and then along y: from a corner three quarters of
it pass one wire, from the middle the busiest has half. A multicast passes once only what the ways of all cores have in common,
which is the channel into the network; behind it the wire is as busy as before.
"""

from pathlib import Path

from accelsim import Options, run

HERE = Path(__file__).resolve().parent

print("memory at  multicast  cycles  bytes x channels  busiest channels")
for node, place in ((0, "corner"), (5, "middle")):
    for multicast in ("none", "equal"):
        options = Options(mapping=str(HERE / "mesh-mapping.yaml"), overrides=(
            f"chip.links.NOC.outer_node={node}", f"chip.links.NOC.multicast={multicast}", "network.link.width=16 B/cycle"))
        (one,) = run(str(HERE / "mesh.yaml"), "gemm:m=256,n=256,k=256,dtype=int8", options).report.done
        busiest = sorted(one.links, key=one.link_busy, reverse=True)[:3]
        print(f"{place:<10} {multicast:<9} {one.cycles:>7,} {sum(one.links.values()) / 2**20:>13.2f} MiB ",
              ", ".join(f"{name.removeprefix('NOC ')} {one.link_busy(name):.0%}" for name in busiest))
