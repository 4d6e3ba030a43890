"""Building blocks for importers: columns, trees and linear models over raw features."""
