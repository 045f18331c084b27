//go:build !amd64

package sha256pair

const haveLanes = false

func lanes(a, b *[8]uint32, p, q []byte) { panic("no SHA instructions for two lanes") }
