package duplicates

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"tcbuild/ingest"
	"tcbuild/internal/testing/seed"
)

// pooled is the mean of samples with these values of one phenotype and of its statistics.
func pooled(t *testing.T, phenotypes []string, samples [][]float64) []float64 {
	t.Helper()
	source := ingest.Columns{Phenotypes: ingest.NamedPhenotypes(phenotypes...)}
	plan, columns, err := newPlan(source, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	m := (&stage{Rule: Rule{Duplicates: Mean}, plan: plan, columns: columns}).policy(nil)
	for i, values := range samples {
		if _, err := m.See(0, i == 0, i, &ingest.Sample{Phenotypes: values}); err != nil {
			t.Fatal(err)
		}
	}
	sample := ingest.Sample{Phenotypes: samples[0]}
	if err := m.Result(0, &sample); err != nil {
		t.Fatal(err)
	}
	return sample.Phenotypes
}

// Means and deviations are those of NumPy 2.4.6 but for rounding; missing values between them do
// not count.
func TestMeansAreNumPys(t *testing.T) {
	for _, test := range []struct {
		n                         int
		mean, std, rootMeanSquare float64
	}{
		{1, 0x0.0p+0, nan, 0x0.0p+0},
		{7, 0x1.ab88bf9fbf70ep+8, 0x1.351f131dc7f57p+8, 0x1.013d8f7e8fa67p+9},
		{8, 0x1.f2ca34e50a03ap+8, 0x1.5e08d6116e109p+8, 0x1.2a5423946bbedp+9},
		{9, 0x1.ea7101e958df0p+8, 0x1.48623fa971244p+8, 0x1.21fe8f2b5d859p+9},
		{16, 0x1.0546ab024f994p+9, 0x1.37da8e8e4907bp+8, 0x1.2dc26d9d3b290p+9},
		{127, 0x1.03df7f50cc383p+9, 0x1.234ee1c0375dfp+8, 0x1.29a09b9a8e0dcp+9},
		{128, 0x1.03230e610f264p+9, 0x1.22a2fb0073c80p+8, 0x1.28d2e6ac01e3bp+9},
		{129, 0x1.04134bed277d2p+9, 0x1.22486c4b3f0b6p+8, 0x1.298f5aac35944p+9},
		{136, 0x1.02cd9555a7d28p+9, 0x1.224268c1c227fp+8, 0x1.287501474e88bp+9},
		{1000, 0x1.f87970c7994efp+8, 0x1.21dd630f4d874p+8, 0x1.22dfe155cdf80p+9},
		{5000, 0x1.f619b7e0702e1p+8, 0x1.2196d27465b4fp+8, 0x1.21ce535c9a516p+9},
	} {
		for _, sparse := range []int{0, 3} {
			var samples [][]float64
			for i := range test.n {
				value := float64((i*2654435761)%1000003) / 997
				samples = append(samples, []float64{value, value})
				for range sparse {
					samples = append(samples, []float64{nan, 7})
				}
			}
			if len(samples) == 1 {
				continue
			}
			found := pooled(t, []string{"y", "y_std"}, samples) // y, y_std, y_n, y_sd
			for k, want := range []float64{test.mean, test.rootMeanSquare, float64(test.n), test.std} {
				if !(math.Abs(found[k]-want) <= 1e-12*math.Abs(want)) && !(math.IsNaN(want) && math.IsNaN(found[k])) {
					t.Errorf("%d values, figure %d: found %v, want %v", test.n, k, found[k], want)
				}
			}
		}
	}
}

// Means and deviations have 12 digits where sums in floating-point numbers have none, compared with
// exact ones.
func TestMeansAreExact(t *testing.T) {
	random := seed.Rand(t)
	for _, test := range []struct{ offset, spread float64 }{{0, 1}, {1, 1e-9}, {-1e9, 1}, {1e15, 1}, {0, 1e-150}, {0, 1e150}} {
		for _, n := range []int{2, 3, 1000} {
			var samples [][]float64
			exactly := func(x float64) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(x) }
			sum, squares, count := exactly(0), exactly(0), exactly(float64(n))
			for i := range n {
				value := test.offset + test.spread*random.NormFloat64()
				if i == n/2 && test.offset == 0 { // so that the sum is small
					rest, _ := sum.Float64()
					value -= rest
				}
				samples = append(samples, []float64{value})
				sum.Add(sum, exactly(value))
				squares.Add(squares, exactly(0).Mul(exactly(value), exactly(value)))
			}
			mean := exactly(0).Quo(sum, count)
			squares.Sub(squares, exactly(0).Mul(sum, mean))
			deviation := squares.Sqrt(squares.Quo(squares, exactly(float64(n-1))))
			found := pooled(t, []string{"y"}, samples)
			for k, exact := range map[int]*big.Float{0: mean, 2: deviation} {
				if want, _ := exact.Float64(); !(math.Abs(found[k]-want) <= 1e-12*math.Abs(want)) {
					t.Errorf("%+v, %d values, figure %d: found %v, want %v", test, n, k, found[k], want)
				}
			}
		}
	}
	equal := slices.Repeat([][]float64{{0.1}}, 1000)
	if found := pooled(t, []string{"y"}, equal); found[0] != 0.1 || found[2] != 0 {
		t.Errorf("of equal values: mean %v, standard deviation %v", found[0], found[2])
	}
}

// The p-values are those of SciPy 1.17.1, t.sf(|t|, n-1)*2, but for rounding.
func TestPValues(t *testing.T) {
	for _, test := range []struct {
		n, mean, sd, want float64
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
