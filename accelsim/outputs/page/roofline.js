// The hierarchical roofline, log on log.

function drawRoofline(operator) {
}
