package duplicates

import (
	"math"
	"path/filepath"
	"testing"

	"tcbuild/ingest"
)

// group writes values as the records of one group, and opens it. bufferBytes of them are held.
func group(t *testing.T, phenotypes ...[]float64) *records {
	t.Helper()
	columns := ingest.Columns{Phenotypes: make([]ingest.Phenotype, len(phenotypes))}
	for k := range phenotypes {
		columns.Phenotypes[k].Name = string(rune('a' + k))
	}
	plan, _, err := newPlan(columns, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRecords(t.TempDir(), plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	for i := range phenotypes[0] {
		samples := ingest.NewSamples(i, columns, 1)
		var values []float64
		for k := range phenotypes {
			values = append(values, phenotypes[k][i])
		}
		samples.Append(nil, nil, values, nil)
		if err := r.put(i, samples, 0); err != nil {
			t.Fatal(err)
		}
	}
	r.open(0, len(phenotypes[0]))
	return r
}

// Sums, means and deviations have the bits that NumPy 2.4.6 gives; missing values between them do
// not count.
func TestSumsAreNumPys(t *testing.T) {
	for _, test := range []struct {
		n                             int
		sum, mean, std, rootMeanSqare float64
	}{
		{1, 0x0.0p+0, 0x0.0p+0, nan, 0x0.0p+0},
		{7, 0x1.7617a7abc782cp+11, 0x1.ab88bf9fbf70ep+8, 0x1.351f131dc7f57p+8, 0x1.013d8f7e8fa67p+9},
		{8, 0x1.f2ca34e50a03ap+11, 0x1.f2ca34e50a03ap+8, 0x1.5e08d6116e109p+8, 0x1.2a5423946bbedp+9},
		{9, 0x1.13df911341fd7p+12, 0x1.ea7101e958df0p+8, 0x1.48623fa971244p+8, 0x1.21fe8f2b5d859p+9},
		{16, 0x1.0546ab024f994p+13, 0x1.0546ab024f994p+9, 0x1.37da8e8e4907bp+8, 0x1.2dc26d9d3b290p+9},
		{127, 0x1.01d7c0522a9fcp+16, 0x1.03df7f50cc383p+9, 0x1.234ee1c0375dfp+8, 0x1.29a09b9a8e0dcp+9},
		{128, 0x1.03230e610f264p+16, 0x1.03230e610f264p+9, 0x1.22a2fb0073c80p+8, 0x1.28d2e6ac01e3bp+9},
		{129, 0x1.061b728501cc2p+16, 0x1.04134bed277d2p+9, 0x1.22486c4b3f0b6p+8, 0x1.298f5aac35944p+9},
		{136, 0x1.12fa6eab024fap+16, 0x1.02cd9555a7d28p+9, 0x1.224268c1c227fp+8, 0x1.287501474e88bp+9},
		{1000, 0x1.eca69822ebb71p+18, 0x1.f87970c7994efp+8, 0x1.21dd630f4d874p+8, 0x1.22dfe155cdf80p+9},
		{5000, 0x1.3275327abc782p+21, 0x1.f619b7e0702e1p+8, 0x1.2196d27465b4fp+8, 0x1.21ce535c9a516p+9},
	} {
		with := func(sparse int) []float64 {
			var values []float64
			for i := range test.n {
				values = append(values, float64((i*2654435761)%1000003)/997)
				for range sparse {
					values = append(values, nan)
				}
			}
			return values
		}
		for _, sparse := range []int{0, 3, 40} { // the last one makes groups larger than the buffer
			v := group(t, with(sparse)).values(func(record []byte) float64 { return phenotypeOf(record, 0) })
			found := [4]float64{v.sum(), v.mean(), v.deviation(), math.Sqrt(v.squares().mean())}
			for k, want := range [4]float64{test.sum, test.mean, test.std, test.rootMeanSqare} {
				if v.count != test.n || math.Float64bits(found[k]) != math.Float64bits(want) && !(math.IsNaN(want) && math.IsNaN(found[k])) {
					t.Errorf("%d values, figure %d: found %x, want %x", test.n, k, found[k], want)
				}
			}
		}
	}
}

// The p-values are those of SciPy 1.17.1, t.sf(|t|, n-1)*2, but for rounding.
func TestPValues(t *testing.T) {
	for _, test := range []struct {
		n              int
		mean, sd, want float64
	}{
		{2, .2, 0.1414213562373095, 0.2951672353008665},
		{3, -1.5, 0.2, 0.005873765936491198},
		{4, 1e-09, 1, 0.9999999985297896},
		{5, 0.03, 0.05, 0.2508153597684459},
		{10, 0.5, 0.01, 8.231923170330385e-17},
		{50, 0.3, 1.1, 0.05960049824282167},
		{2, 1000000.0, 0.001, 4.5015815807855306e-10},
		{1000, -0.2, 0.4, 1.9937306056414552e-50},
		{7, 5, 1e-08, 1.259475218658893e-53},
		{3, 2, 0, 0},
		{3, 0, 2, 1},
		{3, 0, 0, nan},
	} {
		found := pValueOfMean(test.n, test.mean, test.sd)
		if !(math.Abs(found-test.want) <= 1e-12*test.want) && !(math.IsNaN(found) && math.IsNaN(test.want)) {
			t.Errorf("%+v: found %v", test, found)
		}
	}
}

// A read that fails is an error, not a number.
func TestReadFails(t *testing.T) {
	r := group(t, []float64{1, 2, 3})
	if err := r.Truncate(20); err != nil {
		t.Fatal(err)
	}
	r.plan.pool(r, make([]float64, 3))
	if r.failed == nil {
		t.Error("a file cut short was read")
	}
	if _, err := newRecords(filepath.Join(t.TempDir(), "missing"), r.plan); err == nil {
		t.Error("made a file in a folder that is missing")
	}
}
