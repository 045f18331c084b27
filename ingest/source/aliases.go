package source

// Aliases returns the names that mean exactly one gene, except the gene ids themselves, each with
// that gene's id.
func (n *Names) Aliases() map[string]string {
	aliases := make(map[string]string, len(n.features))
	for name := range n.features {
		if _, isID := n.genes.Index(name); isID {
			continue
		}
		if row, result := n.find([]byte(name)); result == gene {
			aliases[name] = n.genes.IDs[row]
		}
	}
	return aliases
}
