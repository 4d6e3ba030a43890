"""What an importer builds with: columns, trees and linear models over raw features."""
