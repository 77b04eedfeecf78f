package all

import "servescope/formats/aiperf"

func init() {
	add(&aiperf.Format)
	add(&aiperf.Figures)
}
