"""Submitted bots: the rules of their packages, and the messages of a runner.

package             an archive as checked names and contents
package_rules       limits of a package, and the error that refuses one
package_inspector   the program that inspects an uploaded package
manifest            plyhouse.toml and requirements.txt of a package
runner_messages     messages between a runner and the server
"""
