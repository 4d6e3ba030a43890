"""Sums of trees and a linear model."""
